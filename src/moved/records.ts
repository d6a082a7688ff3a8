// Until 1.0.
throw new Error('sluice/records is gone: sluice-opentelemetry has what maps records of OpenTelemetry')

export {}

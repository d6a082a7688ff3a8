// Until 1.0.
throw new Error('sluice/opentelemetry is a package of its own now: import sluice-opentelemetry')

export {}

// Until 1.0.
throw new Error('sluice/express is an example now: see docs/frameworks.md of sluice')

export {}

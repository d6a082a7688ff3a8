// Until 1.0.
throw new Error('sluice/reading is sluice-receiver/client now')

export {}

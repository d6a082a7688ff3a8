module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'app.js',
      exec_mode: 'cluster',
      instances: 2,
      wait_ready: true, // reload keeps the old process until the new one says that it is ready
      kill_timeout: 8000, // longer than shutdownTimeoutMs (5000): pm2 kills the process after it
    },
  ],
}

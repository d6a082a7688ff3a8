// jest loads CommonJS alone: Sluice, which is ES modules, must be transformed like the code of the application.
module.exports = {
  transform: { '\\.[cm]?[jt]sx?$': ['@swc/jest', { module: { type: 'commonjs' }, jsc: { target: 'es2022' } }] },
  transformIgnorePatterns: ['/node_modules/(?!(.pnpm/)?sluice)'],
}

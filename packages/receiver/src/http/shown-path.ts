/** Anything that looks like an API key. */
const keys = /slk(_|%5f)[\w%-]+/gi

/** The path of a request and its query as a log may show them: without the token of the page and without keys. */
export function shownPath(url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s)
  const parameters = query?.split('&').filter((each) => !isToken(each)) ?? []
  const rest = parameters.length === 0 ? '' : `?${parameters.join('&')}`
  return `${path}${rest}`.replaceAll(keys, 'slk_…')
}

function isToken(parameter: string): boolean {
  return new URLSearchParams(parameter).has('token')
}

/**
 * a to Z, then aa, ba and so on.
 * @param {number} index
 * @returns {string}
 */
export function letters(index) {
  const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const rest = Math.floor(index / alphabet.length)
  return `${alphabet[index % alphabet.length]}${rest === 0 ? '' : letters(rest - 1)}`
}

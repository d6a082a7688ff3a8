/** What the log record of this number says: the same on both sides, of any length and with any character. */
export function payloadOf(/** @type {number} */ id) {
  const odd = ['"', '\\', '\n', '\u0000', 'é', '日本', '🪣', '{"a":1}', '\u2028', '</script>'][id % 10]
  return `record ${id} ${odd}${'x'.repeat((id * 7919) % 400)}`
}

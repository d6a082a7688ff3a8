/** The text of the log record with this number, of any length and with any character. Application and oracle use the same. */
export function payloadOf(/** @type {number} */ id) {
  const odd = ['"', '\\', '\n', '\u0000', 'é', '日本', '🪣', '{"a":1}', '\u2028', '</script>'][id % 10]
  return `record ${id} ${odd}${'x'.repeat((id * 7919) % 400)}`
}

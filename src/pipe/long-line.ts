import {
  aligned,
  endTextAt,
  FrameMemory,
  frameCode,
  headBytes,
  lineWord,
  styleAt,
  type TextHead,
  textAt,
} from './frame.js'

/** The frames of a line that is too long for one frame: parts of this size, then its end. No other frame comes between them. */
export function longLine(head: TextHead, text: string, partBytes: number): FrameMemory {
  const line = Buffer.from(text)
  const parts = Math.ceil(line.length / partBytes) - 1
  const endAt = parts * aligned(headBytes + partBytes)
  const rest = line.subarray(parts * partBytes)
  const frames = new FrameMemory(new ArrayBuffer(aligned(endAt + endTextAt + rest.length)))
  for (let part = 0; part < parts; part++) {
    const from = part * partBytes
    const at = part * aligned(headBytes + partBytes)
    setHead(frames, at, headBytes + partBytes, frameCode.part, from)
    frames.bytes.set(line.subarray(from, from + partBytes), at + headBytes)
  }
  setHead(frames, endAt, endTextAt + rest.length, lineWord(head, true), head.time)
  frames.ints[(endAt + styleAt) >> 2] = head.style
  frames.ints[(endAt + textAt) >> 2] = parts * partBytes
  frames.bytes.set(rest, endAt + endTextAt)
  return frames
}

function setHead({ ints, floats }: FrameMemory, at: number, size: number, word: number, time: number): void {
  ints[at >> 2] = size
  ints[(at >> 2) + 1] = word
  floats[(at >> 3) + 1] = time
}

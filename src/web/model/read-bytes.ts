/** What no page should hold at once. */
const MAX_BYTES = 500_000_000;

/** All bytes of an address, told as they come. */
export const readBytes = async (address: string, onBytes: (bytes: number) => void): Promise<Uint8Array> => {
  const answer = await fetch(address);
  if (!answer.ok || answer.body === null) throw new Error(`the service answered ${answer.status}`);
  const reader = answer.body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) {
      await reader.cancel();
      throw new Error(`it has more than ${MAX_BYTES / 1_000_000} MB`);
    }
    pieces.push(value);
    onBytes(bytes);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

/** What no page should hold at once. */
const MAX_BYTES = 500_000_000;
/** Where nobody says how much there is. */
const FIRST_BYTES = 4_000_000;

/** All bytes of an address, told as they come; held but once where `sizeBytes` is as much as there is. */
export const readBytes = async (
  address: string,
  onBytes: (bytes: number) => void,
  sizeBytes = FIRST_BYTES,
): Promise<Uint8Array> => {
  const answer = await fetch(address);
  if (!answer.ok || answer.body === null) throw new Error(`the service answered ${answer.status}`);
  const reader = answer.body.getReader();
  let whole = new Uint8Array(Math.min(sizeBytes, MAX_BYTES));
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const neededBytes = bytes + value.length;
    if (neededBytes > MAX_BYTES) {
      await reader.cancel();
      throw new Error(`it has more than ${MAX_BYTES / 1_000_000} MB`);
    }
    if (neededBytes > whole.length) {
      const larger = new Uint8Array(Math.min(Math.max(neededBytes, 2 * whole.length), MAX_BYTES));
      larger.set(whole.subarray(0, bytes));
      whole = larger;
    }
    whole.set(value, bytes);
    bytes = neededBytes;
    onBytes(bytes);
  }
  return bytes === whole.length ? whole : whole.slice(0, bytes);
};

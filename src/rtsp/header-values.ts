/** The methods that a camera lists in `Public` (RFC 2326 §12.28), upper case. */
export const parsePublic = (values: readonly string[]): ReadonlySet<string> =>
  new Set(
    values
      .flatMap((value) => value.split(/[,\s]+/))
      .map((method) => method.toUpperCase())
      .filter((method) => /^[A-Z_]{1,32}$/.test(method)),
  );

export type SessionHeader = {
  readonly id: string;
  /** Null where the camera doesn't say. */
  readonly timeoutMs: number | null;
};

const MAX_ID_CHARS = 256;
const MAX_TIMEOUT_S = 86_400;

/** Reads `Session: <id>;timeout=<seconds>` (RFC 2326 §12.37) with spaces anywhere; null: there is no id. */
export const parseSession = (text: string | null): SessionHeader | null => {
  const [id = '', ...fields] = (text ?? '').split(';').map((field) => field.trim());
  if (id === '' || id.length > MAX_ID_CHARS) return null;
  const timeout = fields
    .map((field) => /^timeout\s*=\s*"?(\d{1,9})/i.exec(field)?.[1])
    .find((found) => found);
  const seconds = Math.min(Number(timeout ?? 0), MAX_TIMEOUT_S);
  return { id, timeoutMs: seconds > 0 ? seconds * 1000 : null };
};

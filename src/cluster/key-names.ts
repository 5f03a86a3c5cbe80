/** Keys of NATS have figures, letters, "-", "_", "=", "/" and ".", of which the last parts levels. */
const PLAIN = /^[A-Za-z0-9_/-]$/;

/** A record's key as NATS takes it: all else as its bytes in UTF-8, after "=". */
export const keyName = (key: string): string => {
  let name = '';
  for (const character of key) {
    if (PLAIN.test(character)) name += character;
    else for (const byte of Buffer.from(character)) name += `=${byte.toString(16).padStart(2, '0')}`;
  }
  return name;
};

/** And back; null: no record is called so. */
export const keyOfName = (name: string): string | null => {
  const bytes: number[] = [];
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const hex = /^[0-9a-f]{2}$/.exec(name.slice(at + 1, at + 3))?.[0];
    if (name[at] === '=' && hex !== undefined) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else if (code < 128) bytes.push(code);
    else return null;
  }
  const key = Buffer.from(bytes).toString();
  return keyName(key) === name ? key : null;
};

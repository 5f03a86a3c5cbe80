/** Without those that look alike: it is read from a screen, or told by phone. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUPS = 4;
const GROUP_CHARACTERS = 5;

/** 100 random bits. Works without https, too. */
export const makePassword = (): string => {
  const random = crypto.getRandomValues(new Uint8Array(GROUPS * GROUP_CHARACTERS));
  const letters = [...random].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return (letters.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? []).join('-');
};

/**
 * What errors say of where a camera is: its host and port, or an address as cameras write them. An IPv6 one has its
 * brackets beside a port, and two colons at least without.
 */
const ADDRESS =
  /[a-z][a-z0-9+.-]*:\/\/\S+|\[[^\]\s]*:[^\]\s]*\](?::\d+)?|[^\s:/[\]()"',]+:\d{1,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:])(?:[0-9a-f]{0,4}:){2,}[0-9a-f.:]*/gi;
/** Cameras have their say in it, and what is looked for costs the square of a word's length. */
const MOST_TOLD = 500;

/** Why a camera is away, for those who are not to know where it is. */
export const withoutAddresses = (text: string): string =>
  text.slice(0, MOST_TOLD).replace(ADDRESS, 'its address');

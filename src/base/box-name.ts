import { hostname } from 'node:os';

const PATTERN = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/;
const NAMELESS = 'box';

/** Whether a box may be called so: as hosts are. */
export const isBoxName = (text: string): boolean => PATTERN.test(text);

/** What a box is called that nobody named: as its host, if that can be. */
export const ownBoxName = (host = hostname()): string => (isBoxName(host) ? host : NAMELESS);

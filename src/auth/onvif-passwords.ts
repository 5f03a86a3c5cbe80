import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ApiKeys, keyUsername } from './api-keys.js';
import { type Principal, principalOfKey } from './tokens.js';

/** None that people take for another one. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Many recorders take no more; of these 57 characters they are 93 bits. */
const LENGTH = 16;

export type OnvifPasswordsDeps = { readonly keys: Pick<ApiKeys, 'find' | 'noteUse'> };

/**
 * Passwords of keys for ONVIF, whose digests (WS-Security, HTTP) only who has the password itself can check. A key's
 * own 256 bits are kept as a hash, so each key has a second secret, which is kept nowhere: it is made anew from the
 * key's id by the secret that signs tokens. It opens ONVIF and RTSP, and nothing of the API.
 */
export class OnvifPasswords {
  readonly #secret: Buffer;
  readonly #deps: OnvifPasswordsDeps;

  constructor(secret: Buffer, deps: OnvifPasswordsDeps) {
    this.#secret = secret;
    this.#deps = deps;
  }

  /** Of the key with this id. */
  ofKey(id: string): string {
    const bits = createHmac('sha256', this.#secret).update(`onvif\0${id}`).digest();
    // Two bytes a character: one alone would favour some.
    const characters = Array.from(
      { length: LENGTH },
      (_, index) => ALPHABET[bits.readUInt16BE(2 * index) % ALPHABET.length],
    );
    return characters.join('');
  }

  /** What the key of this name must show, and whom it stands for; null: there is no such key now. */
  find(name: string): { readonly password: string; readonly who: Principal } | null {
    const holder = this.#deps.keys.find(keyUsername(name));
    return holder && { password: this.ofKey(holder.token_epoch), who: principalOfKey(holder) };
  }

  /** Who has this name and password; null: nobody. */
  login(name: string, password: string): Principal | null {
    const found = this.find(name);
    const [wanted, shown] = [Buffer.from(found?.password ?? ''), Buffer.from(password)];
    if (found === null || wanted.length !== shown.length || !timingSafeEqual(wanted, shown)) return null;
    this.noteUse(found.who);
    return found.who;
  }

  noteUse({ username }: Principal): void {
    this.#deps.keys.noteUse(username);
  }
}

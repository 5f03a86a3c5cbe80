import type { z } from 'zod';
import { newCameraSchema } from '../http/camera-schemas.js';
import { faultsOf } from '../http/validate.js';
import { type Fields, fieldsOf, isEmpty } from './peer-yaml.js';

export type CameraBody = z.input<typeof newCameraSchema>;
export type LeftOut = { readonly where: string; readonly why: string };

/** What is made something of; of a tree only the innermost fields, null: whatever stands in it. */
export type Known = { readonly [name: string]: Known | null };

const MAX_ID_LENGTH = 64;

/** A name as it may be shown: an address at a name's place may hold a password. */
const shownName = (name: string): string => name.replace(/:\/\/.*$/s, '://***');

/** Fields that say something and are not known, with what they stand in before a dot. */
const unknownOf = (fields: Fields, known: Known, prefix = ''): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    const path = prefix + shownName(name);
    const inner = Object.hasOwn(known, name) ? known[name] : undefined;
    if (inner === null || isEmpty(value)) return [];
    return inner === undefined || fieldsOf(value) !== value
      ? [path]
      : unknownOf(fieldsOf(value), inner, `${path}.`);
  });

/** The nearest id that the API takes. */
const idOf = (name: string): string => {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-');
  return (
    plain
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, MAX_ID_LENGTH)
      .replace(/-+$/, '') || 'camera'
  );
};

/** What would be made of another recorder's file, and what would not. */
export class Plan {
  readonly cameras: CameraBody[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #ids = new Set<string>();

  leave(where: string, why: string): void {
    this.leftOut.push({ where: shownName(where), why });
  }

  /** Fields that nothing was made of, in one line. */
  leaveFields(where: string, fields: Fields, known: Known): void {
    const names = unknownOf(fields, known);
    if (names.length > 0) this.leave(where, `not taken over: ${names.join(', ')}`);
  }

  /** Only what the API would take is planned. */
  add(name: string, settings: Omit<CameraBody, 'id'>): void {
    const plain = shownName(name);
    const body = { ...settings, id: this.#freeId(idOf(plain)), comment: plain.slice(0, 200) };
    const { error } = newCameraSchema.safeParse(body);
    if (error !== undefined) {
      this.leave(
        name,
        faultsOf(error)
          .map(({ path, message }) => `${path} ${message}`)
          .join('; '),
      );
      return;
    }
    this.#ids.add(body.id.toLowerCase());
    this.cameras.push(body);
  }

  #freeId(wanted: string): string {
    let id = wanted;
    for (let count = 2; this.#ids.has(id.toLowerCase()); count++) {
      const suffix = `-${count}`;
      id = wanted.slice(0, MAX_ID_LENGTH - suffix.length) + suffix;
    }
    return id;
  }
}

/** Why an address is none of a camera's that can be pulled by RTSP; undefined: it is one. */
export const whyNotPulled = (url: string): string | undefined => {
  if (/\$\{|\{FRIGATE_|\$MTX_|\$G\d/.test(url))
    return 'its address has a variable: write the value in its place';
  if (/^rtsps?:\/\//i.test(url)) return undefined;
  const scheme = /^(?:[a-z][a-z0-9+]{0,15}(?=:\/\/)|(?:ffmpeg|exec|echo|expr)(?=:))/i.exec(url)?.[0];
  return `only rtsp:// and rtsps:// are pulled${scheme === undefined ? '' : `, not ${scheme}:`}`;
};

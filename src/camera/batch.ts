import { messageOf } from '../base/errors.js';
import type { Camera as StoredCamera } from '../store/cameras.js';
import { isCameraUrl, keepPasswords } from './camera-url.js';

/** One thing that is wrong with a batch, and where: `create[3].id`. */
export type BatchFault = { readonly path: string; readonly message: string };

/** The cameras that there are, and those whose recordings are being deleted. */
export type KnownCameras = {
  find(id: string): StoredCamera | null;
  isGoing(id: string): boolean;
  /** Whether whoever asks sees the camera: else there is none. */
  isSeen(id: string): boolean;
};

const lists = ['create', 'update', 'delete'] as const;
type List = (typeof lists)[number];

const fieldOf = (item: unknown, name: string): unknown =>
  typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;

const itemsOf = (input: unknown, list: List): readonly unknown[] => {
  const items = fieldOf(input, list);
  return Array.isArray(items) ? items : [];
};

const identityFault = (list: List, id: string, { find, isGoing, isSeen }: KnownCameras): string | null => {
  if (list !== 'create') return find(id) === null || !isSeen(id) ? `there is no camera ${id}` : null;
  if (find(id) !== null) return `there is a camera ${id} already`;
  return isGoing(id) ? 'its recordings are being deleted; try again soon' : null;
};

/** A masked password must stand for one that is stored. */
const addressFaults = (path: string, item: unknown, stored: StoredCamera): BatchFault[] =>
  (['url', 'sub_url'] as const).flatMap((name) => {
    const url = fieldOf(item, name);
    if (typeof url !== 'string' || !isCameraUrl(url)) return [];
    try {
      keepPasswords({ [name]: url }, stored);
      return [];
    } catch (fault) {
      return [{ path: `${path}.${name}`, message: messageOf(fault) }];
    }
  });

/** What is wrong with a batch as a client sent it, beside the form of its parts, however broken these are: every fault. */
export const faultsOfBatch = (input: unknown, known: KnownCameras): BatchFault[] => {
  const seen = new Set<string>();
  const faultsOf = (list: List, item: unknown, index: number): BatchFault[] => {
    const id = list === 'delete' ? item : fieldOf(item, 'id');
    if (typeof id !== 'string') return [];
    const path = `${list}[${index}]`;
    const idPath = list === 'delete' ? path : `${path}.id`;
    if (seen.has(id)) return [{ path: idPath, message: `${id} is named twice` }];
    seen.add(id);
    const message = identityFault(list, id, known);
    if (message !== null) return [{ path: idPath, message }];
    const stored = list === 'update' ? known.find(id) : null;
    return stored === null ? [] : addressFaults(path, item, stored);
  };
  return lists.flatMap((list) => itemsOf(input, list).flatMap((item, index) => faultsOf(list, item, index)));
};

import type { Camera, NewCamera, OnvifDiscovery, OnvifProbeResult } from '../../../data/types.js';
import { readAddress } from '../many/address.js';
import { IdSuggestions } from '../many/suggest-ids.js';

/** A device on the list: found, or typed. */
export type Device = Pick<OnvifDiscovery['devices'][number], 'address' | 'host' | 'name' | 'hardware'>;

/** How asking it stands. */
export type Probe =
  | { readonly step: 'asking' }
  | { readonly step: 'done'; readonly result: OnvifProbeResult };

/** One camera that would be added of it. */
export type Offer = OnvifProbeResult['cameras'][number];

/** The same camera is the same everywhere: its device's address and its own number there. */
export const offerKey = (address: string, index: number): string => `${index} ${address}`;

const hostOf = (url: string): string => readAddress(url)?.host.replace(/:\d+$/, '').toLowerCase() ?? '';

/** The camera that is there already at this host; "": none. */
export const knownAs = (host: string, cameras: Iterable<Pick<Camera, 'id' | 'url'>>): string => {
  for (const { id, url } of cameras) if (hostOf(url) === host.toLowerCase()) return id;
  return '';
};

/** Whether a camera shows the same stream already, whoever is named in its address. */
export const isHere = ({ camera }: Offer, cameras: Iterable<Pick<Camera, 'url'>>): boolean => {
  const streamOf = (url: string): string => {
    const address = readAddress(url);
    return address === null ? url : `${address.host.toLowerCase()}${address.path}`;
  };
  return [...cameras].some(({ url }) => streamOf(url) === streamOf(camera.url));
};

/** Whether it is to be added unless somebody says otherwise: what answered, or wasn't tested. */
export const isFit = ({ main }: Offer): boolean => main.test?.ok ?? true;

/** What somebody typed, as a device of the list. */
export const typedDevice = (address: string): Device => ({
  address: address.trim(),
  host: address
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/(?::\d+)?(?:\/.*)?$/, ''),
  name: '',
  hardware: '',
});

export type Chosen = { readonly device: Device; readonly result: OnvifProbeResult; readonly offer: Offer };

/** What adds them: with ids that nobody has, made of what they are called. */
export const newCameras = (
  chosen: readonly Chosen[],
  taken: Iterable<string>,
  folderId: string,
): NewCamera[] => {
  const ids = new IdSuggestions(taken);
  return chosen.map(({ device, result, offer }) => ({
    ...offer.camera,
    id: ids.suggest(offer.name || device.name || result.device?.model || device.host),
    folder_id: folderId,
    // What doesn't answer isn't asked for each time that a wall is opened.
    sub_url: offer.sub?.test?.ok === false ? '' : offer.camera.sub_url,
  }));
};

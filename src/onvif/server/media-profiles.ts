import { at, textOf } from '../../analytics/xml-tree.js';
import { escapeXml } from '../soap.js';
import { noSuch, textXml } from './answer.js';
import type { Call, ShownCamera, ShownStream } from './shown-cameras.js';

/** A stream as both media services tell of it: the profile, and the configuration of its encoder, have one token. */
export type Profile = { readonly token: string; readonly camera: ShownCamera; readonly stream: ShownStream };

/** Ids of cameras have no colon. */
const tokenOf = (id: string, { stream }: ShownStream): string => (stream === 'main' ? id : `${id}:sub`);

export const profilesOf = (cameras: readonly ShownCamera[]): Profile[] =>
  cameras.flatMap((camera) =>
    camera.streams.map((stream) => ({ token: tokenOf(camera.id, stream), camera, stream })),
  );

/** Cameras as a service may tell of them: with the streams that it has a word for, if there is one. */
export const withStreams = (
  cameras: readonly ShownCamera[],
  isKnown: (stream: ShownStream) => boolean,
): ShownCamera[] =>
  cameras
    .map(({ id, streams }) => ({ id, streams: streams.filter(isKnown) }))
    .filter(({ streams }) => streams.length > 0);

/** A camera's pictures come in the size of the first of its streams. */
export const mainOf = ({ streams }: ShownCamera): ShownStream => streams[0]!;

export const sizeXml = ({ width, height }: ShownStream): string =>
  `<tt:Resolution>${textXml('tt:Width', width)}${textXml('tt:Height', height)}</tt:Resolution>`;

export const sourceConfigurationXml = (tag: string, camera: ShownCamera): string => {
  const { width, height } = mainOf(camera);
  const id = escapeXml(camera.id);
  return (
    `<${tag} token="${id}"><tt:Name>${id}</tt:Name>${textXml('tt:UseCount', camera.streams.length)}` +
    `<tt:SourceToken>${id}</tt:SourceToken><tt:Bounds x="0" y="0" width="${width}" height="${height}"/></${tag}>`
  );
};

/** What a question says of something, by its name; "" for nothing. */
export const asked = ({ element }: Call, name: string): string => textOf(at(element, name));

/** The profile that a question is about; throws where there is none in sight. */
export const profileOf = (call: Call, cameras: readonly ShownCamera[]): Profile =>
  found(cameras, asked(call, 'ProfileToken'), 'NoProfile');

/** The same by the configuration of its encoder. */
export const encoderOf = (call: Call, cameras: readonly ShownCamera[]): Profile =>
  found(cameras, asked(call, 'ConfigurationToken'), 'NoConfig');

const found = (
  cameras: readonly ShownCamera[],
  wanted: string,
  otherwise: 'NoProfile' | 'NoConfig',
): Profile => {
  const profile = profilesOf(cameras).find(({ token }) => token === wanted);
  if (profile === undefined) throw noSuch(otherwise, otherwise === 'NoProfile' ? 'profile' : 'configuration');
  return profile;
};

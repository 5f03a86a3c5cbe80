import { all, at, attribute, type Element, textOf } from '../../analytics/xml-tree.js';
import { MAX_TOKEN } from '../profiles.js';
import { escapeXml, plainLine } from '../soap.js';

/** How fast, from -1 to 1: right, up and closer are positive (ONVIF PTZ §5.7, generic spaces). */
export type Velocity = { readonly pan: number; readonly tilt: number; readonly zoom: number };

export const STILL: Velocity = { pan: 0, tilt: 0, zoom: 0 };

export const isStill = ({ pan, tilt, zoom }: Velocity): boolean => pan === 0 && tilt === 0 && zoom === 0;

export const isSame = (a: Velocity, b: Velocity): boolean =>
  a.pan === b.pan && a.tilt === b.tilt && a.zoom === b.zoom;

export type Preset = { readonly token: string; readonly name: string };

const MAX_PRESETS = 300;
export const MAX_PRESET_NAME = 64;

const profileXml = (token: string): string => `<ProfileToken>${escapeXml(token)}</ProfileToken>`;

/**
 * ContinuousMove (§5.3.3). What neither moves nor did isn't named: a camera that can't zoom refuses to be told not to.
 * `limit`: after which the camera stops by itself, should we be gone.
 */
export const moveXml = (profile: string, to: Velocity, from: Velocity, limit: string): string => {
  const turns = [to.pan, to.tilt, from.pan, from.tilt].some((speed) => speed !== 0);
  const zooms = to.zoom !== 0 || from.zoom !== 0;
  return (
    `${profileXml(profile)}<Velocity>${turns ? `<tt:PanTilt x="${to.pan}" y="${to.tilt}"/>` : ''}` +
    `${zooms ? `<tt:Zoom x="${to.zoom}"/>` : ''}</Velocity>${limit === '' ? '' : `<Timeout>${limit}</Timeout>`}`
  );
};

/** Stop (§5.3.6): all that moves. */
export const stopXml = (profile: string): string =>
  `${profileXml(profile)}<PanTilt>true</PanTilt><Zoom>true</Zoom>`;

export const presetXml = (profile: string, preset: string): string =>
  `${profileXml(profile)}${preset === '' ? '' : `<PresetToken>${escapeXml(preset)}</PresetToken>`}`;

export const newPresetXml = (profile: string, name: string): string =>
  `${profileXml(profile)}<PresetName>${escapeXml(name)}</PresetName>`;

/** Of an answer to GetPresets (§5.4.3); those without a name are called by their token. */
export const readPresets = (answer: Element): Preset[] =>
  all(answer, 'Preset')
    .slice(0, MAX_PRESETS)
    .map((preset) => ({
      token: attribute(preset, 'token'),
      name: plainLine(textOf(at(preset, 'Name')), MAX_PRESET_NAME),
    }))
    .filter(({ token }) => token !== '' && token.length <= MAX_TOKEN)
    .map(({ token, name }) => ({ token, name: name === '' ? token : name }));

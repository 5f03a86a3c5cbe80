import { catalogue } from './catalogue.js';

/** A camera that can be moved. */
export const moveText = catalogue({
  open: 'Move the camera',
  keys: 'Moving the camera',
  hold: 'Hold a button or an arrow key; + and - zoom.',
  left: 'Left',
  right: 'Right',
  up: 'Up',
  down: 'Down',
  closer: 'Closer',
  wider: 'Wider',
  presets: 'Go to',
  noPresets: 'It keeps no place yet.',
  presetsFailed: 'Reading its places',
  goTo: 'Go to {name}',
  keep: 'Keep this place',
  keepName: 'Name of this place',
  forget: 'Forget {name}',
  failed: 'Moving the camera',
});

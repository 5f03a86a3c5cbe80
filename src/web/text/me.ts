import { catalogue } from './catalogue.js';

export const meText = catalogue({
  title: 'Me',
  account: 'Account',
  signedInAs: 'Signed in as {name}',
  signOut: 'Sign out',
  password: 'Password',
  old: 'Password until now',
  new: 'New password',
  again: 'New password, again',
  rule: '8 to 256 characters. Other browsers that you signed in with are signed out.',
  different: 'The two are not the same.',
  tooShort: 'It has fewer than 8 characters.',
  wrongOld: 'That is not your password.',
  change: 'Change password',
  changed: 'Your password is another one now',
  appearance: 'Appearance',
  theme: 'Colours on this device',
  system: 'As the system',
  dark: 'Dark',
  light: 'Light',
  keys: 'Keyboard',
  letterKeys: 'Single keys do something, such as F for full screen',
  letterKeysHint: 'Switch it off if you speak to your device, or press keys by accident. “?” shows all keys.',
  keysFailed: 'Keeping the setting',
  times: 'Times',
  zone: 'Times are shown as in {zone}, the zone of the site.',
  ownZone: 'Show the time of this device instead, in this tab',
});

/** What roles are called, and what they are for. */
export const roleText = catalogue({
  viewer: 'Viewer',
  operator: 'Operator',
  admin: 'Admin',
  service: 'Service',
  viewerHint: 'Watches cameras and recordings, and exports them.',
  operatorHint: 'Also changes cameras, steers them, deletes recordings and reads the log.',
  adminHint: 'May do everything: users, settings, backups.',
  serviceHint: 'A program that manages cameras and hands out access; it does not sign in here.',
});

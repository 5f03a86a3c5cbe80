import { catalogue } from './catalogue.js';

/** Cameras that are found on the network, and asked what they are. */
export const findText = catalogue({
  open: 'Find on the network',
  title: 'Find cameras on the network',
  searching: 'Asking the networks of the service…',
  again: 'Search again',
  none: 'No camera answered. Is it on the same network as the service, and ONVIF switched on in it? Its address can be typed below.',
  found: '{count} answered',
  failed: 'Searching the network',
  blind: '{name} could not be asked: {error}',
  address: 'Another address',
  addressHint: 'Of a camera that does not answer the search: host, or host:port',
  addAddress: 'Put on the list',
  user: 'User of the cameras',
  password: 'Password',
  choose: 'Ask {name}',
  known: 'here already as {id}',
  ask: 'Ask {count}',
  asking: 'Asking it, and testing its streams…',
  take: 'Add {name}',
  moves: 'can be moved',
  untested: 'Not tested: a recorder has too many',
  add: 'Add {count}',
  adding: 'Adding the cameras',
  added: '{count} cameras added',
  addedOne: 'Camera added',
});

import { catalogue } from './catalogue.js';

/** What stands around every page. */
export const shellText = catalogue({
  skip: 'Skip to content',
  navigation: 'Pages',
  wall: 'Wall',
  archive: 'Archive',
  events: 'Events',
  cameras: 'Cameras',
  users: 'Users',
  system: 'System',
  logs: 'Logs',
  me: 'Me',
  more: 'More',
  loading: 'Loading…',
  offline: 'The service does not answer. Trying again in {seconds} s.',
  retryNow: 'Try now',
  retry: 'Try again',
  failed: '{what} failed',
  requestId: 'Request {id}',
  notFound: 'There is no page here.',
  toWall: 'To the wall',
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  pageFailed: 'This page could not be shown.',
});

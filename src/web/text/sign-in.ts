import { catalogue } from './catalogue.js';

export const signInText = catalogue({
  title: 'Sign in',
  username: 'User name',
  password: 'Password',
  remember: 'Stay signed in on this device for 30 days',
  submit: 'Sign in',
  wrong: 'User name or password is wrong.',
  limited: 'Too many attempts. You can try again in {seconds}\u00a0s.',
  ended: 'You were signed out. Sign in again to go on where you were.',
  noService: 'The service does not answer. Is it running, and is this device connected to it?',
});

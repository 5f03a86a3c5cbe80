import { testJoined } from './joined.js';

testJoined('H.265 with AAC, ten minutes', {
  codec: 'h265',
  framesPerGop: 25,
  withAudio: true,
  seconds: 600,
});

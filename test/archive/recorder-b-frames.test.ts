import { testJoined } from './joined.js';

testJoined('H.264 with B-frames and AAC, ten minutes', {
  codec: 'h264',
  framesPerGop: 50,
  bFrames: 3,
  withAudio: true,
  seconds: 600,
});

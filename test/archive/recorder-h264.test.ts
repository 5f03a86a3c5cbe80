import { testJoined } from './joined.js';

testJoined('H.264, ten minutes', { codec: 'h264', framesPerGop: 50, seconds: 600 });

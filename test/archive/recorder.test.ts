import { testJoined } from './joined.js';

testJoined('H.265 with B-frames', { codec: 'h265', framesPerGop: 30, bFrames: 2, seconds: 60 });
testJoined('GOPs of ten seconds', { codec: 'h264', framesPerGop: 250, seconds: 60 });
testJoined('all keyframes', { codec: 'h264', framesPerGop: 1, seconds: 60 });

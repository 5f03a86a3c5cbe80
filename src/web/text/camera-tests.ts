import { catalogue } from './catalogue.js';

/** What a test of a camera found. */
export const testText = catalogue({
  test: 'Test',
  testing: 'Testing…',
  waiting: 'Waits for its turn',
  found: '{codec} {size} {fps} fps',
  foundNoRate: '{codec} {size}',
  keyframe: 'keyframe {seconds} s',
  noSound: 'no sound',
  picture: 'What the test saw',
  noPicture: 'Pictures of tests need https or localhost.',
  sub: 'Smaller stream',
  foundSub: 'smaller {size}',
  retry: 'Test again',
});

/** What to do about it, by the service's code; its own words stand beside. */
export const cures = catalogue({
  unauthorized: 'The camera refuses user or password.',
  not_found: 'The camera has no stream at this path.',
  connection_refused:
    'Nothing listens at this port. Check the port, and that RTSP is switched on in the camera.',
  host_unreachable: 'The camera can’t be reached. Check the address, its cable and its power.',
  timeout: 'No answer within 10 s. Check address and port, and whether a firewall is between.',
  unsupported_codec: 'It sends neither H.264 nor H.265. Choose one of them in the camera.',
  unsupported_transport: 'It takes neither TCP nor UDP.',
  closed_by_camera: 'The camera hung up. It may have too many viewers, or want the other transport.',
  protocol_error: 'What answers is no RTSP. Check the port.',
  bad_sdp: 'The stream is described wrongly. Try another path.',
  server_error: 'The camera has a fault of its own, or no place left for a viewer.',
  no_keyframe: 'It sends, but no keyframe came in 10 s. Set a shorter keyframe interval (GOP) in the camera.',
  no_picture: 'It answers, but no picture came. Try the other transport.',
  stalled: 'It stopped sending. Try the other transport.',
  bad_url: 'The address can’t be read, or its password is missing.',
  not_tested: 'The test could not be made.',
  other: 'It doesn’t work.',
});

/** What a session saw besides its media, over all of its connections. */
export type RtspCounters = {
  /** Bytes from the camera, control and media: of TCP what came over the network, of UDP the packets' payloads. */
  receivedBytes: number;
  /** Bytes between messages and frames that were neither (quirk 16). */
  garbageBytes: number;
  /** Frames on channels that no SETUP assigned, such as another session's (quirk 15). */
  unknownChannelFrames: number;
  /** UDP packets from hosts other than the camera. */
  foreignUdpPackets: number;
  /** Answers that nobody waited for: doubled, or too late. */
  strayResponses: number;
  /** RTCP packets and answers not sent because the camera doesn't read. */
  droppedWrites: number;
};

/** A set of counters at zero. */
export const makeCounters = (): RtspCounters => ({
  receivedBytes: 0,
  garbageBytes: 0,
  unknownChannelFrames: 0,
  foreignUdpPackets: 0,
  strayResponses: 0,
  droppedWrites: 0,
});

// Put before the app's own workers by the tool: notes each picture that goes to a canvas, and counts frames that are open.
(() => {
  const MOST_DRAWS = 200_000;
  const canvases = new Map();
  const decoders = new Set();
  let draws = [];
  let open = 0;
  let mostOpen = 0;
  const nowMs = () => performance.timeOrigin + performance.now();
  const opened = () => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
  };

  const numberOf = (canvas) => {
    if (!canvases.has(canvas)) canvases.set(canvas, canvases.size);
    return canvases.get(canvas);
  };
  const { drawImage } = OffscreenCanvasRenderingContext2D.prototype;
  OffscreenCanvasRenderingContext2D.prototype.drawImage = function (source, ...rest) {
    drawImage.call(this, source, ...rest);
    if (draws.length >= MOST_DRAWS) return;
    draws.push([numberOf(this.canvas), nowMs(), source instanceof VideoFrame ? source.timestamp / 1_000 : 0]);
  };

  const { close, clone } = VideoFrame.prototype;
  VideoFrame.prototype.close = function () {
    if (this.format !== null) open -= 1;
    close.call(this);
  };
  VideoFrame.prototype.clone = function () {
    opened();
    return clone.call(this);
  };

  const Decoder = VideoDecoder;
  globalThis.VideoDecoder = class extends Decoder {
    constructor({ output, error }) {
      super({
        output: (frame) => {
          opened();
          output(frame);
        },
        error,
      });
      this.fail = () => {
        super.close();
        error(new DOMException('the decoder of a budget', 'EncodingError'));
      };
      decoders.add(this);
    }
    close() {
      decoders.delete(this);
      super.close();
    }
  };

  globalThis.budgetProbe = {
    /** What was drawn since the last call: [canvas, when, time of the picture], in ms; and how many frames were open at most. */
    take() {
      const taken = { draws, mostOpen, open, canvases: canvases.size };
      draws = [];
      mostOpen = open;
      return taken;
    },
    /** As the browser does it when a decoder gives up. */
    failDecoders() {
      // Each has a successor at once, which is to live.
      const failed = [...decoders];
      decoders.clear();
      for (const decoder of failed) decoder.fail();
    },
    /** As the browser does it when it takes a canvas away for good: what is drawn there is not seen. */
    loseCanvases() {
      for (const canvas of canvases.keys()) canvas.dispatchEvent(new Event('contextlost'));
    },
  };
})();

import { isVehicle, type SeenObject } from './seen.js';
import styles from './seen-boxes.module.css';

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

const Box = ({ label, score, box: [x, y, width, height] }: SeenObject) => (
  <span
    class={`${styles.box} ${isVehicle(label) ? styles.vehicle : label === 'person' ? styles.person : ''}`}
    ref={(element) => {
      if (element === null) return;
      const { style } = element;
      [style.left, style.top] = [percent(x), percent(y)];
      [style.width, style.height] = [percent(width), percent(height)];
    }}
  >
    <span class={`${styles.label} ${y < 0.12 ? styles.inside : ''}`}>
      {label} {Math.round(score * 100)} %
    </span>
  </span>
);

/** What was detected, over a picture of that form which is shown whole. */
export const SeenBoxes = ({
  objects,
  ratio,
}: {
  readonly objects: readonly SeenObject[];
  readonly ratio: number;
}) =>
  objects.length === 0 ? null : (
    <div class={styles.over}>
      <div class={styles.picture} ref={(element) => element?.style.setProperty('--ratio', String(ratio))}>
        {objects.map((object, index) => (
          <Box key={`${object.label} ${index}`} {...object} />
        ))}
      </div>
    </div>
  );

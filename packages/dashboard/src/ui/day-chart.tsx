import { scaleBand, scaleLinear } from 'd3-scale';
import type { ReactNode, SVGProps } from 'react';

const WIDTH = 1000;
const HEIGHT = 170;
const FLOOR = 20;

/** The place of the bar of a day. */
interface Place {
  readonly x: number;
  readonly width: number;
  /** The height on the chart of a value. */
  readonly y: (value: number) => number;
}

interface DayChartProps<Day> extends Omit<SVGProps<SVGSVGElement>, 'children'> {
  readonly days: readonly Day[];
  /** The value of the highest bar. */
  readonly most: number;
  readonly children: (day: Day, place: Place) => ReactNode;
}

/** Bars of days, each above its day of the month. */
export const DayChart = <Day extends { readonly day: string }>(props: DayChartProps<Day>) => {
  const { days, most, children, ...svg } = props;
  const x = scaleBand(
    days.map(({ day }) => day),
    [0, WIDTH],
  ).padding(0.25);
  const y = scaleLinear([0, most], [HEIGHT - FLOOR, 4]);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="chart" {...svg}>
      {days.map((each) => (
        <g key={each.day}>
          {children(each, { x: x(each.day)!, width: x.bandwidth(), y })}
          <text x={x(each.day)! + x.bandwidth() / 2} y={HEIGHT - 4} textAnchor="middle" className="tick">
            {each.day.slice(8)}
          </text>
        </g>
      ))}
      <line x1={0} x2={WIDTH} y1={HEIGHT - FLOOR} y2={HEIGHT - FLOOR} className="axis" />
    </svg>
  );
};

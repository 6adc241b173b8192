import encodeQR from 'qr';

// The quiet zone that ISO/IEC 18004 asks for, in modules.
const QUIET = 4;

/** A QR code, dark on white in both color schemes because scanners need it. */
export const QrCode = ({ content, label }: { readonly content: string; readonly label: string }) => {
  const modules = encodeQR(content, 'raw', { ecc: 'medium', border: QUIET });
  const size = modules.length;
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(modules)} fill="#000" />
    </svg>
  );
};

/** One rectangle for each run of dark modules in a row. */
const pathOf = (modules: readonly (readonly boolean[])[]): string =>
  modules.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)).join('');

const runsOf = (row: readonly boolean[]): [start: number, length: number][] => {
  const runs: [number, number][] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (isDark && last && last[0] + last[1] === x) last[1] += 1;
    else if (isDark) runs.push([x, 1]);
  });
  return runs;
};

import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** A green-blue of our own. In light, 7 and darker have the contrast of WCAG AA on white. */
const sea: MantineColorsTuple = [
  '#e6f7f6',
  '#d2ecea',
  '#a5dad5',
  '#74c6bf',
  '#4cb6ad',
  '#2fa69c',
  '#16857c',
  '#0c6f67',
  '#075c56',
  '#034641',
];

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: 7,
  colors: { sea },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.15rem' } } },
  respectReducedMotion: true,
  cursorType: 'pointer',
});

const COLORS = ['sea', 'gray', 'red', 'orange', 'yellow', 'green', 'blue', 'grape'];

const each = (make: (color: string) => Record<string, string>): Record<string, string> =>
  Object.assign({}, ...COLORS.map(make)) as Record<string, string>;

/** The texts of Mantine's colors are too pale for WCAG AA: here they are darker in light, and brighter in dark. */
export const resolveColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#565d64',
    '--mantine-color-placeholder': '#6a7178',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-sea-8)',
    ...each((color) => ({
      [`--mantine-color-${color}-text`]: `var(--mantine-color-${color}-9)`,
      [`--mantine-color-${color}-outline`]: `var(--mantine-color-${color}-9)`,
      [`--mantine-color-${color}-light`]: `var(--mantine-color-${color}-0)`,
      [`--mantine-color-${color}-light-color`]: `color-mix(in srgb, var(--mantine-color-${color}-9), #000 25%)`,
    })),
  },
  dark: {
    '--mantine-color-dimmed': '#b3b6ba',
    '--mantine-color-placeholder': '#9a9da1',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-sea-3)',
    ...each((color) => ({
      [`--mantine-color-${color}-text`]: `var(--mantine-color-${color}-3)`,
      [`--mantine-color-${color}-outline`]: `var(--mantine-color-${color}-3)`,
      [`--mantine-color-${color}-light-color`]: `var(--mantine-color-${color}-1)`,
    })),
  },
});

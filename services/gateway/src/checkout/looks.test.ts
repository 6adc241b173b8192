import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { accentOf, accentStyles, BACKGROUNDS, contrast, MIN_CONTRAST } from './looks.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value): string => `#${value.toString(16).padStart(6, '0')}`);

test('computes the contrast of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#ffffff', '#ffffff')).toBe(1);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

test('every color is readable on both backgrounds, and text on it is readable', () =>
  fc.assert(
    fc.property(color, (chosen) => {
      const { light, dark } = accentOf(chosen);
      expect(contrast(light, BACKGROUNDS.light)).toBeGreaterThanOrEqual(MIN_CONTRAST);
      expect(contrast(dark, BACKGROUNDS.dark)).toBeGreaterThanOrEqual(MIN_CONTRAST);
      expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(MIN_CONTRAST);
      expect(contrast(dark, '#000000')).toBeGreaterThanOrEqual(MIN_CONTRAST);
    }),
    { numRuns: 500 },
  ));

test('an accent contrasts with every background of the page as much as with those that it is compared with', () => {
  const styles = readFileSync(new URL('./view/page.css', import.meta.url), 'utf8');
  const backgrounds = [...styles.matchAll(/--(?:page|card|soft): (#[\da-f]+);/g)].map(([, value]) => hexOf(value!));
  expect(backgrounds.length).toBeGreaterThanOrEqual(4);
  for (const background of backgrounds) {
    const isLight = contrast(background, '#000000') > contrast(background, '#ffffff');
    const [nearest, far] = isLight ? [BACKGROUNDS.light, '#000000'] : [BACKGROUNDS.dark, '#ffffff'];
    expect(contrast(background, far)).toBeGreaterThanOrEqual(contrast(nearest, far));
  }
});

/** `#fff` as `#ffffff`. */
const hexOf = (value: string): string => (value.length === 4 ? value.replace(/[\da-f]/g, '$&$&') : value);

test('a color with enough contrast stays as it is', () => {
  expect(accentOf('#0A5C46').light).toBe('#0a5c46');
  expect(accentOf('#7fe0c3').dark).toBe('#7fe0c3');
});

test('a color with too little contrast keeps its hue', () =>
  expect(accentOf('#ff0000')).toEqual({
    light: expect.stringMatching(/^#[a-f]\w0000$/),
    dark: expect.stringMatching(/^#ff(\w\w)\1$/),
  }));

test('the style sheet holds nothing but colors', () =>
  expect(accentStyles('#0a7d5c')).toMatch(
    /^:root\{--accent:#[\da-f]{6};--on-accent:#ffffff\}@media \(prefers-color-scheme:dark\)\{:root\{--accent:#[\da-f]{6};--on-accent:#000000\}\}$/,
  ));

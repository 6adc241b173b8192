import fc from 'fast-check';
import { breakingDifferences } from './breaking.ts';

const before = {
  'a.v1.json': {
    type: 'object',
    properties: {
      status: { type: 'string', enum: ['open', 'closed'] },
      note: { type: 'string' },
      label: { type: 'string', maxLength: 40 },
      count: { type: 'integer', minimum: 0 },
      lines: { type: 'array', items: { $ref: '#/$defs/Line' } },
    },
    required: ['status'],
    $defs: {
      Line: { type: 'object', properties: { amount: { type: 'string', pattern: '^\\d+$' } }, required: ['amount'] },
    },
  },
};

type Document = {
  properties: Record<string, unknown>;
  required: string[];
  $defs: { Line: { properties: Record<string, unknown> } };
};

const after = (change: (document: Document) => void) => {
  const documents = structuredClone(before);
  change(documents['a.v1.json']);
  return documents;
};

test('the same documents break nothing', () => {
  expect(breakingDifferences(before, structuredClone(before))).toEqual([]);
});

test.each<[string, (document: Document) => void]>([
  ['a property', (document) => (document.properties.extra = { type: 'string' })],
  ['a value', (document) => (document.properties.status = { type: 'string', enum: ['open', 'closed', 'lost'] })],
  ['an upper limit', (document) => (document.properties.note = { type: 'string', maxLength: 9 })],
  ['a lower limit', (document) => (document.properties.count = { type: 'integer', minimum: 1 })],
  ['a description', (document) => (document.properties.note = { type: 'string', description: 'for people' })],
])('%s that is added breaks nothing', (_, change) => {
  expect(breakingDifferences(before, after(change))).toEqual([]);
});

test('a document that is added breaks nothing', () => {
  expect(breakingDifferences(before, { ...before, 'b.v1.json': { type: 'object' } })).toEqual([]);
});

test.each<[string, (document: Document) => void, string]>([
  ['a property is removed', (document) => delete document.properties.note, 'a.v1.json#properties/note is gone'],
  [
    'a property has another type',
    (document) => (document.properties.note = { type: 'integer' }),
    'a.v1.json#properties/note: type was "string", is "integer"',
  ],
  [
    'a value is removed',
    (document) => (document.properties.status = { type: 'string', enum: ['open'] }),
    'a.v1.json#properties/status: "closed" is no longer allowed',
  ],
  [
    'values are restricted',
    (document) => (document.properties.note = { type: 'string', enum: ['yes'] }),
    'a.v1.json#properties/note: has an enum now',
  ],
  ['a property is newly required', (document) => document.required.push('note'), 'a.v1.json: "note" is required now'],
  ['a required property may be absent', (document) => document.required.pop(), 'a.v1.json: "status" may be absent now'],
  [
    'a list holds something else',
    (document) => (document.properties.lines = { type: 'array', items: { type: 'string' } }),
    'a.v1.json#properties/lines#items: type was absent, is "string"',
  ],
  [
    'a list holds anything',
    (document) => (document.properties.lines = { type: 'array' }),
    'a.v1.json#properties/lines: items is gone',
  ],
  [
    'an upper limit is raised',
    (document) => (document.properties.label = { type: 'string', maxLength: 41 }),
    'a.v1.json#properties/label: maxLength was 40, is 41',
  ],
  [
    'a lower limit is gone',
    (document) => (document.properties.count = { type: 'integer' }),
    'a.v1.json#properties/count: minimum was 0, is absent',
  ],
  [
    'other properties are forbidden',
    (document) => Object.assign(document, { additionalProperties: false }),
    'a.v1.json: additionalProperties is false now',
  ],
  [
    'the document has another name',
    (document) => Object.assign(document, { $id: 'https://example.com/b.v1.json' }),
    'a.v1.json: $id was absent, is "https://example.com/b.v1.json"',
  ],
  [
    'a shared definition changes',
    (document) => (document.$defs.Line.properties.amount = { type: 'string', pattern: '^.*$' }),
    'a.v1.json#$defs/Line#properties/amount: pattern was "^\\\\d+$", is "^.*$"',
  ],
])('it breaks readers when %s', (_, change, difference) => {
  expect(breakingDifferences(before, after(change))).toContain(difference);
});

test('it breaks readers when a document is removed', () => {
  expect(breakingDifferences(before, {})).toEqual(['a.v1.json is gone']);
});

test('no property can be removed unnoticed, at any depth', () => {
  const schema = fc.letrec((tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, fc.constant({ type: 'string' }), tie('object'), tie('list')),
    list: fc.record({ type: fc.constant('array'), items: tie('schema') }),
    object: fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie('schema'), { minKeys: 1, maxKeys: 3 }),
    }),
  })).object;
  fc.assert(
    fc.property(schema, fc.nat(), (document, choice) => {
      const smaller = structuredClone(document);
      const places = propertiesIn(smaller);
      const [properties, name] = places[choice % places.length]!;
      delete properties[name];
      expect(breakingDifferences({ 'x.v1.json': document }, { 'x.v1.json': smaller })).not.toEqual([]);
    }),
    { numRuns: 200 },
  );
});

const propertiesIn = (value: unknown): [Record<string, unknown>, string][] => {
  const { properties, items } = value as { properties?: Record<string, unknown>; items?: unknown };
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => [
      [properties!, name] as [Record<string, unknown>, string],
      ...propertiesIn(inner),
    ]),
    ...(items ? propertiesIn(items) : []),
  ];
};

import { breakingDifferences, type OpenApi } from './breaking.ts';

const base = {
  paths: {
    '/things': {
      post: {
        parameters: [{ name: 'page', required: false, schema: { type: 'integer', maximum: 1000 } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/New' } } } },
        responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
      },
    },
  },
  components: {
    schemas: {
      New: {
        type: 'object',
        properties: { kind: { type: 'string', enum: ['a', 'b'] }, names: { type: 'array', items: { type: 'string' } } },
        required: ['kind'],
      },
      Thing: { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } }, required: ['id'] },
    },
  },
} satisfies OpenApi;

const changed = (change: (document: typeof base) => void): string[] => {
  const after = structuredClone(base);
  change(after);
  return breakingDifferences(base, after);
};

test('what only adds breaks nothing', () => {
  const faults = changed((after) => {
    Object.assign(after.paths, { '/more': {} });
    Object.assign(after.components.schemas.New.properties, { more: { type: 'string' } });
    Object.assign(after.components.schemas.Thing.properties, { more: { type: 'string' } });
    after.components.schemas.New.properties.kind.enum.push('c');
    after.components.schemas.Thing.required.push('note');
    after.components.schemas.New.required.pop();
  });
  expect(faults).toEqual([]);
});

test.each<[string, (after: typeof base) => unknown, string]>([
  [
    'an operation that is gone',
    (after) => Reflect.deleteProperty(after.paths['/things'], 'post'),
    'POST /things is gone',
  ],
  [
    'a status that is gone',
    (after) => Reflect.deleteProperty(after.paths['/things'].post.responses, 201),
    '201 is gone',
  ],
  ['a parameter that is gone', (after) => after.paths['/things'].post.parameters.pop(), 'parameter page is gone'],
  [
    'a parameter to be sent',
    (after) => Object.assign(after.paths['/things'].post.parameters[0]!, { required: true }),
    'is required now',
  ],
  ['a smaller bound', (after) => (after.paths['/things'].post.parameters[0]!.schema.maximum = 9), 'smaller maximum'],
  ['a field to be sent', (after) => after.components.schemas.New.required.push('names'), 'body.names is required now'],
  ['a value that is refused', (after) => after.components.schemas.New.properties.kind.enum.pop(), 'refuses b now'],
  [
    'another type within a list',
    (after) => (after.components.schemas.New.properties.names.items.type = 'number'),
    'names[]',
  ],
  ['a pattern', (after) => Object.assign(after.components.schemas.New.properties.kind, { pattern: '^a' }), 'pattern'],
  [
    'a field of answers gone',
    (after) => Reflect.deleteProperty(after.components.schemas.Thing.properties, 'note'),
    '201.note is gone',
  ],
  [
    'a field of answers in doubt',
    (after) => after.components.schemas.Thing.required.pop(),
    '201.id may be missing now',
  ],
  [
    'a body that is closed',
    (after) => Object.assign(after.components.schemas.New, { additionalProperties: false }),
    'closed',
  ],
])('%s breaks clients', (_, change, fault) => {
  expect(changed(change)).toEqual([expect.stringContaining(fault)]);
});

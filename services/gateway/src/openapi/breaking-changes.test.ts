import { breakingChanges, type OpenApi } from './breaking-changes.ts';

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
  return breakingChanges(base, after);
};

test('additions are not breaking', () => {
  const changes = changed((after) => {
    Object.assign(after.paths, { '/more': {} });
    Object.assign(after.components.schemas.New.properties, { more: { type: 'string' } });
    Object.assign(after.components.schemas.Thing.properties, { more: { type: 'string' } });
    after.components.schemas.New.properties.kind.enum.push('c');
    after.components.schemas.Thing.required.push('note');
    after.components.schemas.New.required.pop();
  });
  expect(changes).toEqual([]);
});

test.each<[string, (after: typeof base) => unknown, string]>([
  [
    'removing an operation',
    (after) => Reflect.deleteProperty(after.paths['/things'], 'post'),
    'POST /things was removed',
  ],
  [
    'removing a status',
    (after) => Reflect.deleteProperty(after.paths['/things'].post.responses, 201),
    '201 was removed',
  ],
  ['removing a parameter', (after) => after.paths['/things'].post.parameters.pop(), 'parameter page was removed'],
  [
    'requiring a parameter',
    (after) => Object.assign(after.paths['/things'].post.parameters[0]!, { required: true }),
    'is required now',
  ],
  ['lowering a maximum', (after) => (after.paths['/things'].post.parameters[0]!.schema.maximum = 9), 'smaller maximum'],
  [
    'requiring a body field',
    (after) => after.components.schemas.New.required.push('names'),
    'body.names is required now',
  ],
  ['removing an enum value', (after) => after.components.schemas.New.properties.kind.enum.pop(), 'no longer allows b'],
  [
    'changing the type of list items',
    (after) => (after.components.schemas.New.properties.names.items.type = 'number'),
    'names[]',
  ],
  [
    'adding a pattern',
    (after) => Object.assign(after.components.schemas.New.properties.kind, { pattern: '^a' }),
    'pattern',
  ],
  [
    'removing a response field',
    (after) => Reflect.deleteProperty(after.components.schemas.Thing.properties, 'note'),
    '201.note was removed',
  ],
  [
    'making a response field optional',
    (after) => after.components.schemas.Thing.required.pop(),
    '201.id may be missing now',
  ],
  [
    'forbidding unknown body fields',
    (after) => Object.assign(after.components.schemas.New, { additionalProperties: false }),
    'no longer allows unknown fields',
  ],
])('%s is breaking', (_, change, message) => {
  expect(changed(change)).toEqual([expect.stringContaining(message)]);
});

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

test('an error that cannot happen any more, and the refusal of NUL, are not breaking', () => {
  const before = structuredClone(base) as OpenApi;
  before.paths['/things']!.post!.responses[409] = {};
  before.components.schemas.New!.properties!.title = { type: 'string' };
  const after = structuredClone(before);
  delete after.paths['/things']!.post!.responses[409];
  after.components.schemas.New!.properties!.title!.pattern = '^[^\\x00]*$';
  expect(breakingChanges(before, after)).toEqual([]);
  after.components.schemas.New!.properties!.title!.pattern = '^a$';
  expect(breakingChanges(before, after)).toEqual(['POST /things body.title has another pattern']);
});

describe('a response that becomes a union of variants', () => {
  const part = (type: string): OpenApi['components']['schemas'][string] => ({
    type: 'object',
    properties: { [type]: { type: 'string' } },
    required: [type],
  });
  const event = (kinds: string[], data: OpenApi['components']['schemas'][string]) => ({
    type: 'object',
    properties: { kind: { type: 'string', enum: kinds }, data },
    required: ['kind', 'data'],
  });
  const withThing = (Thing: OpenApi['components']['schemas'][string]): OpenApi => {
    const document = structuredClone(base) as OpenApi;
    document.components.schemas.Thing = Thing;
    return document;
  };
  const before = withThing(event(['a', 'b'], { anyOf: [part('a'), part('b')] }));

  test('is not breaking if each variant fits the earlier schema', () => {
    const after = withThing({ oneOf: [event(['a'], part('a')), event(['b'], part('b'))] });
    expect(breakingChanges(before, after)).toEqual([]);
  });

  test('is breaking if a variant lost a field or has other data', () => {
    const lost = withThing({ oneOf: [event(['a'], part('a')), part('b')] });
    expect(breakingChanges(before, lost)).not.toEqual([]);
    const other = withThing({ oneOf: [event(['a'], part('c'))] });
    expect(breakingChanges(before, other)).toEqual(['POST /things 201<0>.data is none of its earlier variants']);
  });
});

test('a named variant is compared by its name: one may come before it, and none may leave', () => {
  const withEvents = (...names: string[]): OpenApi => {
    const document = structuredClone(base) as OpenApi;
    for (const name of names)
      document.components.schemas[name] = { type: 'object', properties: { [name]: {} }, required: [name] };
    document.components.schemas.Thing = { oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) };
    return document;
  };
  const before = withEvents('Paid', 'Expired');
  expect(breakingChanges(before, withEvents('Paid', 'Accepted', 'Expired'))).toEqual([]);
  expect(breakingChanges(before, withEvents('Paid', 'Accepted'))).toEqual([
    'POST /things 201 lost the variant Expired',
  ]);
});

import canonicalize from 'canonicalize';

// The types of the package describe its CommonJS export as an ES module.
const serialize = canonicalize as unknown as typeof canonicalize.default;

/** Canonical JSON of a value. Source: RFC 8785. */
export const canonicalJson = (value: unknown): string | undefined => serialize(value);

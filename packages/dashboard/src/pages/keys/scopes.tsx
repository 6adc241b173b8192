import { Checkbox, Stack, Text } from '@mantine/core';
import { groupScopes } from '../../lib/scopes.ts';
import { t, wordFor } from '../../texts/index.ts';

/** What a key may do, in words, folded. */
export const ScopeList = ({ scopes }: { readonly scopes: readonly string[] }) => (
  <details>
    <summary>
      {[...groupScopes(scopes).keys()].map((about) => wordFor(t.settings.keys.about, about)).join(', ')}
    </summary>
    <ul className="scopes">
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {wordFor(t.settings.keys.scopeWords, scope)}
        </li>
      ))}
    </ul>
  </details>
);

interface ScopeChoiceProps {
  /** All that can be given. */
  readonly scopes: readonly string[];
  readonly value: readonly string[];
  readonly onChange: (value: string[]) => void;
}

export const ScopeChoice = ({ scopes, value, onChange }: ScopeChoiceProps) => (
  <Checkbox.Group label={t.settings.keys.scopes} value={[...value]} onChange={onChange}>
    <Stack gap="xs" mt={4}>
      {[...groupScopes(scopes)].map(([about, group]) => (
        <div key={about}>
          <Text size="sm" fw={600} mb={4}>
            {wordFor(t.settings.keys.about, about)}
          </Text>
          <Stack gap={4}>
            {group.map((scope) => (
              <Checkbox key={scope} value={scope} label={wordFor(t.settings.keys.scopeWords, scope)} title={scope} />
            ))}
          </Stack>
        </div>
      ))}
    </Stack>
  </Checkbox.Group>
);

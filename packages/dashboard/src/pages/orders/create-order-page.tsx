import { Button, Checkbox, Group, NativeSelect, Paper, Stack, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import type { Currencies, Order } from '@cpg/sdk';
import { useNavigate } from '@tanstack/react-router';
import { call, Failure } from '../../api.ts';
import { faultsOf, type OrderFields, orderRequest, railsOf } from '../../lib/create-order.ts';
import { t, wordFor } from '../../texts/index.ts';
import { useAction } from '../../ui/action.tsx';
import { useCurrencies } from '../../ui/currencies.ts';
import { Page } from '../../ui/page.tsx';
import { ActionFailed, Loaded, Needs } from '../../ui/states.tsx';

/** A payment link for who has no shop: an order by hand. */
export const CreateOrderPage = () => (
  <Page title={t.orders.create}>
    <Needs need="createOrders">
      <Needs need="readMerchant">
        <Form />
      </Needs>
    </Needs>
  </Page>
);

const Form = () => <Loaded query={useCurrencies()}>{(currencies) => <Fields currencies={currencies} />}</Loaded>;

const NEW_ITEM = { name: '', quantity: '1', unit_price: '' };

const useOrderForm = (currencies: Currencies) => {
  const [price] = currencies.price_currencies.filter(({ is_available }) => is_available);
  const stable = currencies.payment_currencies.find(({ currency }) => currency === 'USDC');
  const pay = (stable ?? currencies.payment_currencies[0])?.currency ?? '';
  return useForm<OrderFields>({
    initialValues: {
      reference: '',
      items: [NEW_ITEM],
      priceCurrency: price?.currency ?? '',
      payCurrency: pay,
      rails: railsOf(currencies, pay).flatMap(({ rail, isAvailable }) => (isAvailable ? [rail] : [])),
      minutes: '60',
      isPartial: true,
    },
    validate: (fields) =>
      Object.fromEntries(
        Object.entries(faultsOf(fields)).map(([field, fault]) => [
          field,
          { required: t.orders.form.required, amount: t.orders.form.amount, rail: t.orders.form.noRail }[fault],
        ]),
      ),
  });
};

/** The names of fields in the API, where they differ from those here. */
const FORM_NAMES: Readonly<Record<string, string>> = {
  external_reference_id: 'reference',
  enable_rails: 'rails',
  expiration_minutes: 'minutes',
  payment_currency: 'payCurrency',
};

const Fields = ({ currencies }: { readonly currencies: Currencies }) => {
  const form = useOrderForm(currencies);
  const navigate = useNavigate();
  const create = useAction(async (fields: OrderFields, idempotencyKey) => {
    try {
      return await call<Order>('POST', '/v1/orders', { body: orderRequest(fields), idempotencyKey });
    } catch (error) {
      if (error instanceof Failure)
        form.setErrors(
          Object.fromEntries(error.details.map(({ path, message }) => [FORM_NAMES[path] ?? path, message])),
        );
      throw error;
    }
  });
  const submit = async (fields: OrderFields) => {
    const created = await create.run(fields);
    if (created) await navigate({ to: `/orders/${created.answer.id}` });
  };
  const { priceCurrency, payCurrency, rails } = form.values;
  return (
    <Paper withBorder p="md" maw={760}>
      <form onSubmit={form.onSubmit((fields) => void submit(fields))} noValidate>
        <Stack>
          <TextInput
            label={t.orders.form.reference}
            description={t.orders.form.referenceNote}
            maxLength={128}
            data-autofocus
            {...form.getInputProps('reference')}
          />
          <ItemList form={form} />
          <Group align="start">
            <NativeSelect
              label={t.orders.form.priceCurrency}
              data={currencies.price_currencies.map(({ currency, is_available }) => ({
                value: currency,
                label: is_available ? currency : t.orders.form.unavailable(currency),
                disabled: !is_available,
              }))}
              value={priceCurrency}
              onChange={(event) => form.setFieldValue('priceCurrency', event.currentTarget.value)}
            />
            <NativeSelect
              label={t.orders.form.payCurrency}
              data={currencies.payment_currencies.map(({ currency }) => currency)}
              value={payCurrency}
              onChange={(event) => form.setFieldValue('payCurrency', event.currentTarget.value)}
              error={form.errors.payCurrency}
            />
            <TextInput label={t.orders.form.minutes} inputMode="numeric" w={150} {...form.getInputProps('minutes')} />
          </Group>
          <Checkbox.Group
            label={t.orders.form.rails}
            value={[...rails]}
            onChange={(value) => form.setFieldValue('rails', value)}
            error={form.errors.rails}
          >
            <Stack gap="xs" mt={4}>
              {railsOf(currencies, payCurrency).map(({ rail, isAvailable }) => {
                const name = wordFor(t.orders.form.railNames, rail);
                return (
                  <Checkbox
                    key={rail}
                    value={rail}
                    disabled={!isAvailable}
                    label={isAvailable ? name : t.orders.form.unavailable(name)}
                  />
                );
              })}
            </Stack>
          </Checkbox.Group>
          <Checkbox label={t.orders.form.partial} {...form.getInputProps('isPartial', { type: 'checkbox' })} />
          {create.error !== null && <ActionFailed error={create.error} />}
          <Group>
            <Button type="submit" loading={create.isPending}>
              {t.orders.form.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
};

const ItemList = ({ form }: { readonly form: UseFormReturnType<OrderFields> }) => (
  <Stack gap="sm">
    {form.values.items.map((_, index) => (
      <Group key={index} align="start" gap="sm">
        <TextInput
          label={t.orders.form.item}
          flex="1 1 14rem"
          maxLength={256}
          {...form.getInputProps(`items.${index}.name`)}
        />
        <TextInput
          label={t.orders.form.quantity}
          inputMode="decimal"
          w={100}
          {...form.getInputProps(`items.${index}.quantity`)}
        />
        <TextInput
          label={t.orders.form.price}
          inputMode="decimal"
          placeholder="12.50"
          w={150}
          {...form.getInputProps(`items.${index}.unit_price`)}
        />
        {form.values.items.length > 1 && (
          <Button
            variant="subtle"
            color="gray"
            mt={24}
            aria-label={t.orders.form.removeItem}
            onClick={() => form.removeListItem('items', index)}
          >
            ✕
          </Button>
        )}
      </Group>
    ))}
    <Group>
      <Button variant="default" size="xs" onClick={() => form.insertListItem('items', NEW_ITEM)}>
        {t.orders.form.addItem}
      </Button>
    </Group>
  </Stack>
);

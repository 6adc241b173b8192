import {
  type AppError,
  type CompleteDefaults,
  type FaultDetail,
  invalidRequest,
  isAppError,
  type MerchantCreateOrderDto,
  type NewOrder,
  type OrderDefaults,
  type PaymentMethod,
} from '@cpg/contracts';

/** The fields for which a merchant can have a default. */
const FIELDS = ['enable_rails', 'payment_currency', 'capabilities'] as const satisfies (keyof OrderDefaults)[];

export const needsDefaults = (request: MerchantCreateOrderDto): boolean =>
  FIELDS.some((field) => request[field] === undefined);

/** The request with the defaults of its merchant for what it leaves out. The refusal says what is missing, or what the
 *  merchant does not accept. */
export const completeOrder = (
  request: MerchantCreateOrderDto,
  { defaults, methods }: { readonly defaults: OrderDefaults; readonly methods: readonly PaymentMethod[] },
): { readonly order: MerchantCreateOrderDto; readonly refusal: AppError | null } => {
  const order = { ...defaults, ...request };
  const details = isComplete(order)
    ? methodFaults(order, methods).map((fault) =>
        request.enable_rails && request.payment_currency ? fault : fromDefaults(fault),
      )
    : missingFields(order);
  return { order, refusal: details.length > 0 ? invalidRequest(details) : null };
};

/** The fault of a request that its schema refuses, with what is also missing because the merchant has no default for
 *  it: one answer names all. `body` is what was sent, which may be anything. */
export const withMissingFields = (fault: Error, body: unknown, defaults: OrderDefaults): Error =>
  isAppError(fault) && isObject(body)
    ? invalidRequest([...fault.details, ...missingFields({ ...defaults, ...body })])
    : fault;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const missingFields = (order: Partial<Record<(typeof FIELDS)[number], unknown>>): FaultDetail[] =>
  FIELDS.filter((field) => order[field] === undefined).map((path) => ({ path, message: MISSING }));

const MISSING =
  'is required, because you have no default for it: send it, or set it in `order_defaults` with PATCH /v1/merchants/me';

const fromDefaults = ({ path, message }: FaultDetail): FaultDetail => ({
  path,
  message: `${message}. This uses your \`order_defaults\`: send \`enable_rails\` and \`payment_currency\`, or change the defaults`,
});

const isComplete = (order: MerchantCreateOrderDto): order is NewOrder => !needsDefaults(order);

/** The defaults that the merchant could not use: an order with them would be refused. */
export const defaultFaults = (defaults: OrderDefaults, methods: readonly PaymentMethod[]): FaultDetail[] => {
  const { enable_rails = [], payment_currency: currency } = defaults;
  const faults = methodFaults({ enable_rails, payment_currency: currency }, methods);
  const isTaken = methods.some(({ supported_currencies }) => !currency || supported_currencies.includes(currency));
  if (!isTaken) faults.push({ path: 'payment_currency', message: `none of your payment methods takes ${currency}` });
  return faults.map(({ path, message }) => ({ path: `order_defaults.${path}`, message }));
};

/** The rails that the merchant does not accept, or does not accept in the currency. */
const methodFaults = (
  {
    enable_rails,
    payment_currency: currency,
  }: Pick<CompleteDefaults, 'enable_rails'> & Pick<OrderDefaults, 'payment_currency'>,
  methods: readonly PaymentMethod[],
): FaultDetail[] =>
  enable_rails.flatMap((rail, index): FaultDetail[] => {
    const method = methods.find(({ type }) => type === rail);
    const path = `enable_rails.${index}`;
    const listed = '`payment_methods` of GET /v1/merchants/me lists them';
    if (!method) return [{ path, message: `${rail} is not among your payment methods: ${listed}` }];
    const { supported_currencies: supported } = method;
    if (currency === undefined || supported.includes(currency)) return [];
    return [{ path, message: `${rail} does not take ${currency} for you: it takes ${supported.join(', ')}` }];
  });

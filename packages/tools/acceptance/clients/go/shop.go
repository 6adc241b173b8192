// Prints the states of an order that it creates, lists, cancels, and reads with a state of a later version.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"shop/cpg"
)

func main() {
	ctx := context.Background()
	client := clientAt(os.Getenv("BASE_URL"))
	metadata, coin := cpg.MetadataDto{"table": "B7"}, cpg.PaymentCurrencyUSDT
	body := cpg.MerchantCreateOrderDto{
		ExternalReferenceId: "go-1",
		Items:               []cpg.ItemDto{{Name: "Coffee", Quantity: 1.5, UnitPrice: "10", Currency: cpg.ItemCurrencyUSD}},
		EnableRails:         &[]cpg.Rail{cpg.RailGatewayPay},
		PaymentCurrency:     &coin,
		Capabilities:        &cpg.CapabilitiesDto{CanCancel: true, CanUpdate: true, PartialPayments: true},
		Metadata:            &metadata,
	}
	made, err := client.CreateOrderWithResponse(ctx, nil, body)
	check(err)
	id := made.JSON201.Id
	statuses, reference, filter, limit := []cpg.OrderStatus{cpg.OrderStatusAwaitingPayment}, "go-1", "table=B7", 1
	page, err := client.ListOrdersWithResponse(ctx, &cpg.ListOrdersParams{Status: &statuses, ExternalReferenceId: &reference, Metadata: &filter, Limit: &limit})
	check(err)
	later, err := clientAt(os.Getenv("LATER_URL")).GetOrderWithResponse(ctx, id, nil)
	check(err)
	history, err := client.ListOrderHistoryWithResponse(ctx, id, &cpg.ListOrderHistoryParams{Limit: &limit})
	check(err)
	first, err := history.JSON200.Items[0].AsOrderCreatedEntry()
	check(err)
	canceled, err := client.CancelOrderWithResponse(ctx, id, nil, cpg.CancelOrderJSONRequestBody{})
	check(err)
	refused, err := client.GetOrderWithResponse(ctx, "ord_unknown", nil)
	check(err)
	listed := "missing"
	if page.JSON200.Items[0].Id == id {
		listed = "listed"
	}
	fmt.Println("RESULT", made.JSON201.Status, listed, first.Data.Items[0].Name, later.JSON200.Status, canceled.JSON201.Status,
		refused.JSON404.StatusCode)
}

func clientAt(url string) *cpg.ClientWithResponses {
	client, err := cpg.NewClientWithResponses(url, cpg.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", os.Getenv("API_KEY"))
		return nil
	}))
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// go run . [SIDECAR] [NAME]
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// What is sent; order, customer and id are filled in.
//
//go:embed place.json
var placeJSON []byte

type object = map[string]any

// Outcome is what became of a transaction.
//
//	committed  Result is what the method returned
//	refused    by the application: Code and Details are its own words
//	later      nothing happened; the same may succeed later
//	rejected   a mistake of the caller: Status and Message say which
//	in doubt   it may have committed: keep the id, and ask, or send the same again
type Outcome struct {
	Kind, Code, Message string
	Status              int
	Result, Details     json.RawMessage
}

type answer struct {
	status     int
	retryAfter time.Duration
	body       struct {
		Outcome, Type, Detail string
		Result                json.RawMessage
		Abort                 struct {
			Code, Message string
			Retryable     bool
			Details       json.RawMessage
		}
	}
}

// Transact runs a transaction until it has an outcome, or the time is over.
// Its id makes each sending after the first harmless.
func Transact(app string, request object, timeout time.Duration) Outcome {
	end := time.Now().Add(timeout)
	mayHaveRun, ask := false, false
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		left := max(time.Until(end), time.Millisecond)
		var got answer
		var lost error
		if ask {
			got, lost = call("GET", app+"/v1/transactions/"+url.PathEscape(request["id"].(string)), nil, left)
		}
		// 404: it is not known, which decides nothing while it is under way. Sending it again does.
		if !ask || got.status == 404 {
			request["timeoutMs"] = left.Milliseconds()
			got, lost = call("POST", app+"/v1/transactions", request, left)
		}

		body := got.body
		aborted := lost == nil && body.Outcome == "aborted"
		switch {
		case lost != nil:
			mayHaveRun, ask = true, true // no answer: it may have been executed
		case body.Outcome == "committed":
			return Outcome{Kind: "committed", Result: body.Result}
		case aborted && !body.Abort.Retryable:
			return Outcome{Kind: "refused", Code: body.Abort.Code, Details: body.Abort.Details, Message: body.Abort.Message}
		case aborted, (got.status == 429 || got.status == 503) && strings.HasPrefix(body.Type, "urn:snapper:"):
			ask = mayHaveRun && !aborted // this sending was not executed; an earlier one may have been
		case got.status >= 400 && got.status < 500:
			if mayHaveRun {
				return Outcome{Kind: "in doubt"}
			}
			return Outcome{Kind: "rejected", Status: got.status, Message: body.Detail}
		default:
			mayHaveRun, ask = true, true // in doubt, running, or the sidecar's own word, which tells nothing of the worker
		}

		wait := max(got.retryAfter, pause/2+time.Duration(rand.Int63n(int64(pause/2))))
		if time.Now().Add(wait).After(end) {
			if mayHaveRun {
				return Outcome{Kind: "in doubt"}
			}
			return Outcome{Kind: "later", Message: body.Abort.Message}
		}
		time.Sleep(wait)
	}
}

func call(method, address string, body object, timeout time.Duration) (got answer, lost error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return got, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, address, content)
	if err != nil {
		return got, err
	}
	request.Header.Set("content-type", "application/json")
	client := http.Client{Timeout: timeout + 2*time.Second}
	response, err := client.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return got, err
	}
	seconds, _ := strconv.Atoi(response.Header.Get("retry-after"))
	got.status, got.retryAfter = response.StatusCode, time.Duration(seconds)*time.Second
	if json.Unmarshal(text, &got.body) != nil {
		got.body.Detail = string(text)
	}
	return got, nil
}

func place(app, order, customer string, change func(input object), timeout time.Duration) string {
	var request object
	if err := json.Unmarshal(placeJSON, &request); err != nil {
		panic(err)
	}
	input := request["input"].(object)
	request["actor"].(object)["id"] = order
	request["id"] = "place-" + order
	input["customer"] = customer
	if change != nil {
		change(input)
	}
	outcome := Transact(app, request, timeout)
	switch outcome.Kind {
	case "committed":
		var placed struct{ Total float64 }
		if err := json.Unmarshal(outcome.Result, &placed); err != nil {
			panic(err)
		}
		return fmt.Sprintf("committed %.2f", placed.Total)
	case "refused":
		return "refused " + outcome.Code
	case "rejected":
		return fmt.Sprintf("rejected %d", outcome.Status)
	}
	return outcome.Kind
}

func main() {
	sidecar, name := "http://127.0.0.1:3500", "go"
	if len(os.Args) > 1 {
		sidecar = os.Args[1]
	}
	if len(os.Args) > 2 {
		name = os.Args[2]
	}
	app := strings.TrimSuffix(sidecar, "/") + "/v1.0/invoke/orders/method"
	tooMany := func(input object) { input["lines"] = []object{{"article": "tea", "count": 1000}} }
	noLines := func(input object) { delete(input, "lines") }
	fmt.Println(name+"-1", place(app, name+"-1", name, nil, 30*time.Second))
	fmt.Println(name+"-1", place(app, name+"-1", name, nil, 30*time.Second)) // the same id again: the same order
	fmt.Println(name+"-2", place(app, name+"-2", name, tooMany, 30*time.Second))
	fmt.Println(name+"-3", place(app, name+"-3", name, noLines, 30*time.Second))
	fmt.Println(name+"-4", place(app, name+"-4", name, nil, 5*time.Second))
}

func min(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

func max(a, b time.Duration) time.Duration {
	if a > b {
		return a
	}
	return b
}

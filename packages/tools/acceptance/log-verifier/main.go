// Verifies the transparency log of a gateway with Go's own implementation of such logs.
//
//	go run . <gateway> <public key> <file with an earlier checkpoint> < entries of events, one per line
//
// It prints the sizes of the earlier and the current log once the current one contains the earlier one and each event.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	log.SetFlags(0)
	gateway := gateway(os.Args[1])
	verifier := must(note.NewVerifier(os.Args[2]))
	earlier := open(must(os.ReadFile(os.Args[3])), verifier)
	current := open(must(gateway.read("checkpoint")), verifier)
	reader := tlog.TileHashReader(current, gateway)

	proof := must(tlog.ProveTree(current.N, earlier.N, reader))
	check(tlog.CheckTree(proof, current.N, current.Hash, earlier.N, earlier.Hash))

	places := map[tlog.Hash]int64{}
	for n := range current.N {
		leaf := must(reader.ReadHashes([]int64{tlog.StoredHashIndex(0, n)}))[0]
		places[leaf] = n
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		leaf := tlog.RecordHash(lines.Bytes())
		n, isThere := places[leaf]
		if !isThere {
			log.Fatalf("%s is not in the log", lines.Text())
		}
		proof := must(tlog.ProveRecord(current.N, n, reader))
		check(tlog.CheckRecord(proof, current.N, current.Hash, n, leaf))
	}
	fmt.Println(earlier.N, current.N)
}

// open reads the tree of a checkpoint: name, size and root, a line each.
func open(message []byte, verifier note.Verifier) tlog.Tree {
	signed := must(note.Open(message, note.VerifierList(verifier)))
	lines := strings.Split(signed.Text, "\n")
	return tlog.Tree{N: must(strconv.ParseInt(lines[1], 10, 64)), Hash: must(tlog.ParseHash(lines[2]))}
}

// gateway reads tiles over HTTP.
type gateway string

func (g gateway) Height() int { return 8 }

func (g gateway) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range tiles {
		// C2SP tlog-tiles leaves out the height, which is always 8.
		hashes, err := g.read("tile/" + strings.TrimPrefix(tile.Path(), "tile/8/"))
		if err != nil {
			return nil, err
		}
		data = append(data, hashes)
	}
	return data, nil
}

func (g gateway) SaveTiles([]tlog.Tile, [][]byte) {}

func (g gateway) read(path string) ([]byte, error) {
	response, err := http.Get(string(g) + "/audit/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return io.ReadAll(response.Body)
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

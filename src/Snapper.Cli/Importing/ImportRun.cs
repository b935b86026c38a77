using System.Buffers;
using System.Diagnostics;
using System.Globalization;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Threading.Channels;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Contracts;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Server.Commands;

namespace Snapper.Cli.Importing;

/// <summary>
/// Reads actors of plain Dapr from their store, and sends their states to a worker. An actor that has a state there
/// already is left as it is, so that what was interrupted is run again.
/// </summary>
/// <param name="store">Where from.</param>
/// <param name="worker">Where to; null: nothing is sent.</param>
/// <param name="errors">Hears of each state that is not imported, and how far it is.</param>
internal sealed class ImportRun(DaprStore store, OperatorApi? worker, TextWriter errors)
{
    private const int ActorsPerRequest = 500;
    private const int BytesPerRequest = 1 << 20;
    private const int KeysPerRead = 2_000;
    private const int RequestsAtOnce = 3;

    // A value stands inside an object of all of an actor's, which JSON's limit of 64 must still take.
    private const int LevelsMax = 60;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_tellEvery = TimeSpan.FromSeconds(5);
    private static readonly int s_stateMax = new WorkerOptions().MaxStateBytes;
    private static readonly JsonReaderOptions s_json = new() { MaxDepth = LevelsMax };

    private readonly ImportTally _tally = new();
    private readonly HashSet<string> _notHosted = new(StringComparer.Ordinal);
    private readonly Lock _said = new();

    /// <summary>Counts and, unless it is a dry run, imports.</summary>
    /// <param name="type">Actors of this type alone; null: of all.</param>
    /// <returns>What it came to.</returns>
    public async Task<ImportTally> Run(string? type)
    {
        var keys = await store.Keys(type, key =>
        {
            _tally.Strangers++;
            Say($"{key}: not of the form app||type||id||name: not imported");
        });
        if (keys.Length == 0) return _tally;
        var hosted = worker is null ? null
            : (await worker.Again(
                HttpMethod.Get, "v1/actor-types", ContractJson.Default.ActorTypesView, null, s_patience, Say))
                .Types.Select(static one => one.Type).ToHashSet(StringComparer.Ordinal);
        var parts = Channel.CreateBounded<ImportPart>(RequestsAtOnce);
        var senders = Enumerable.Range(0, RequestsAtOnce).Select(_ => SendAll(parts.Reader)).ToArray();
        using var telling = new Timer(_ => Tell(), null, s_tellEvery, s_tellEvery);
        try
        {
            await ReadAll(keys, hosted, parts.Writer, senders);
            parts.Writer.Complete();
        }
        catch (Exception failure)
        {
            parts.Writer.Complete(failure);
            if (senders.FirstOrDefault(static one => one.IsFaulted) is { } broken) await broken;
            throw;
        }

        await Task.WhenAll(senders);
        return _tally;
    }

    private async Task ReadAll(
        DaprKey[] keys, HashSet<string>? hosted, ChannelWriter<ImportPart> parts, Task[] senders)
    {
        var part = new ImportPart();
        var next = store.Values(PageAt(keys, 0));
        for (var from = 0; from < keys.Length;)
        {
            // What is read next is on its way while this is looked at.
            var page = PageAt(keys, from);
            var values = await next;
            from += page.Length;
            if (from < keys.Length) next = store.Values(PageAt(keys, from));
            for (var i = 0; i < page.Length;)
            {
                var end = i + 1;
                while (end < page.Length && IsSameActor(page.Span[i], page.Span[end])) end++;
                var actor = page[i..end];
                var first = actor.Span[0];
                if (!part.TakesMore(first.Type))
                {
                    await Hand(part, parts, senders);
                    part = new ImportPart();
                }

                Take(part, actor, values.AsSpan(i, end - i), hosted);
                i = end;
            }
        }

        await Hand(part, parts, senders);
    }

    // Ends where an actor ends.
    private static ReadOnlyMemory<DaprKey> PageAt(DaprKey[] keys, int from)
    {
        var end = Math.Min(from + KeysPerRead, keys.Length);
        while (end > from && end < keys.Length && IsSameActor(keys[end - 1], keys[end])) end++;
        return keys.AsMemory(from, end - from);
    }

    private static bool IsSameActor(in DaprKey one, in DaprKey other) => one.Id == other.Id && one.Type == other.Type;

    private async Task Hand(ImportPart part, ChannelWriter<ImportPart> parts, Task[] senders)
    {
        if (part.Count == 0 || worker is null) return;
        part.End();

        // A sender that has failed takes nothing any more.
        var written = parts.WriteAsync(part).AsTask();
        if (await Task.WhenAny([written, .. senders]) is var ended && ended != written) await ended;
        await written;
    }

    private void Take(
        ImportPart part, ReadOnlyMemory<DaprKey> actor, ReadOnlySpan<StoredValue> values, HashSet<string>? hosted)
    {
        var first = actor.Span[0];
        var failed = 0;
        for (var i = 0; i < values.Length; i++)
        {
            if ((values[i].Fault ?? Fault(values[i].Data.Span)) is { } fault)
            {
                failed = 1;
                Say($"{actor.Span[i]}: {fault}: {first.Type}/{first.Id} is not imported");
            }
        }

        if ((NameRules.ActorIdError(first.Id) ?? TooLarge(actor.Span, values)) is { } wrong)
        {
            failed = 1;
            Say($"{wrong}: {first.Type}/{first.Id} is not imported");
        }

        if (failed == 0 && hosted?.Contains(first.Type) == false)
        {
            failed = 1;
            if (_notHosted.Add(first.Type))
            {
                Say($"no worker hosts the actor type {first.Type}: its actors are not imported");
            }
        }

        _tally.Add(first.Type, actors: 1, states: values.Length, failed: failed);
        if (failed == 0 && worker is not null) part.Add(actor.ToArray(), values.ToArray());
    }

    // What the worker's own limit is the worker says, actor by actor; a dry run knows the default alone.
    private string? TooLarge(ReadOnlySpan<DaprKey> actor, ReadOnlySpan<StoredValue> values)
    {
        if (worker is not null) return null;
        var bytes = 1L;
        for (var i = 0; i < values.Length; i++)
        {
            var name = JsonEncodedText.Encode(actor[i].Name).EncodedUtf8Bytes.Length;
            bytes += name + values[i].Data.Span.Trim(" \t\r\n"u8).Length + "\"\":,"u8.Length;
        }

        return bytes <= s_stateMax ? null : string.Create(
            CultureInfo.InvariantCulture,
            $"its state has {bytes} bytes as JSON, and the limit is {s_stateMax} (Snapper:Worker:MaxStateBytes)");
    }

    private static string? Fault(ReadOnlySpan<byte> json)
    {
        try
        {
            var reader = new Utf8JsonReader(json, s_json);
            while (reader.Read())
            {
                // Throws where it is not one JSON value.
            }

            return JsonText.Error(json);
        }
        catch (JsonException wrong)
        {
            return $"it does not parse ({wrong.Message})";
        }
    }

    private async Task SendAll(ChannelReader<ImportPart> parts)
    {
        await foreach (var part in parts.ReadAllAsync())
        {
            await Send(part);
        }
    }

    private async Task Send(ImportPart part)
    {
        var started = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                using var body = new ReadOnlyMemoryContent(part.Written);
                body.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                var answer = await worker!.Send(HttpMethod.Post, "v1/imports", ContractJson.Default.ImportsView, body);
                if (answer.Failed.Any(static one => one.Retryable) && Stopwatch.GetElapsedTime(started) < s_patience)
                {
                    part.CameIn += answer.Imported; // they are told as there already the next time
                    await Task.Delay(TimeSpan.FromMilliseconds(200));
                    continue;
                }

                foreach (var one in answer.Failed) Say($"{part.Type}/{one.Id}: {one.Detail}");
                var imported = part.CameIn + answer.Imported;
                _tally.Add(
                    part.Type, imported: imported, present: part.Count - imported - answer.Failed.Count,
                    failed: answer.Failed.Count);
                return;
            }
            catch (OperatorException problem) when (problem.IsPassing && Stopwatch.GetElapsedTime(started) < s_patience)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(200));
            }
            catch (OperatorException problem) when (problem.Status == 413 && part.Count > 1)
            {
                // One of them may be what is too large: it must not keep out the others.
                var (first, second) = part.Halves();
                await Send(first);
                await Send(second);
                return;
            }
            catch (OperatorException problem) when (problem.Status == 413)
            {
                Say($"{part.Type}/{part.FirstId}: {problem.Message}");
                _tally.Add(part.Type, failed: 1);
                return;
            }
            catch (OperatorException problem) when (problem.Status == 400)
            {
                Say($"{part.Count} actors of {part.Type}, from {part.FirstId} on: {problem.Message}");
                _tally.Add(part.Type, failed: part.Count);
                return;
            }
        }
    }

    private void Tell()
    {
        if (worker is not null) Say(string.Create(CultureInfo.InvariantCulture, $"{_tally.Done} actors so far"));
    }

    private void Say(string text)
    {
        lock (_said) errors.WriteLine($"snapper: {text}");
    }

    /// <summary>Some actors of one type, as the body of one request.</summary>
    private sealed class ImportPart
    {
        private readonly ArrayBufferWriter<byte> _bytes = new(64 << 10);
        private readonly Utf8JsonWriter _json;
        private readonly List<(DaprKey[] Keys, StoredValue[] Values)> _actors = [];

        public ImportPart() => _json = new Utf8JsonWriter(_bytes, new JsonWriterOptions { SkipValidation = true });

        public string Type => _actors[0].Keys[0].Type;

        public string FirstId => _actors[0].Keys[0].Id;

        public int Count => _actors.Count;

        /// <summary>How many of them were imported by an earlier attempt of the request.</summary>
        public int CameIn { get; set; }

        public ReadOnlyMemory<byte> Written => _bytes.WrittenMemory;

        public bool TakesMore(string type) => Count == 0
            || (Type == type && Count < ActorsPerRequest
                && _json.BytesCommitted + _json.BytesPending < BytesPerRequest);

        public void Add(DaprKey[] keys, StoredValue[] values)
        {
            _actors.Add((keys, values));
            if (Count == 1)
            {
                _json.WriteStartObject();
                _json.WriteString("type"u8, Type);
                _json.WriteString("reason"u8, "import from Dapr"u8);
                _json.WriteStartArray("actors"u8);
            }

            _json.WriteStartObject();
            _json.WriteString("id"u8, keys[0].Id);
            _json.WriteStartObject("state"u8);
            for (var i = 0; i < keys.Length; i++)
            {
                _json.WritePropertyName(keys[i].Name);
                _json.WriteRawValue(values[i].Data.Span, skipInputValidation: true);
            }

            _json.WriteEndObject();
            _json.WriteEndObject();
        }

        public void End()
        {
            _json.WriteEndArray();
            _json.WriteEndObject();
            _json.Flush();
        }

        /// <summary>The same actors, as two requests.</summary>
        public (ImportPart First, ImportPart Second) Halves() => (Slice(0, Count / 2), Slice(Count / 2, Count));

        private ImportPart Slice(int from, int to)
        {
            var part = new ImportPart();
            foreach (var (keys, values) in _actors[from..to])
            {
                part.Add(keys, values);
            }

            part.End();
            return part;
        }
    }
}

using System.Buffers;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Snapper.Runtime.Json;
using Xunit;

namespace Snapper.Runtime.Tests;

public sealed class ResultWriterTests
{
    /// <summary>Code of a type that keeps the writer reaches no memory that has gone back and is another's.</summary>
    [Fact]
    public void A_writer_that_failed_writes_into_no_memory_that_has_gone_back()
    {
        const int Length = 100_000;
        var keeper = new Keeper(Length);
        var options = new JsonSerializerOptions { TypeInfoResolver = new DefaultJsonTypeInfoResolver() };
        options.Converters.Add(keeper);
        var type = (JsonTypeInfo<Large>)options.GetTypeInfo(typeof(Large));
        Assert.Throws<NotSupportedException>(() => ResultWriter.Write(new Large(), type, 1 << 20));

        // As much as the writer asks for, for characters of three bytes.
        var rented = ArrayPool<byte>.Shared.Rent(3 * Length);
        Array.Clear(rented);
        keeper.Writer!.WriteStringValue("mine");
        Assert.Equal(-1, rented.AsSpan().IndexOfAnyExcept((byte)0));
        ArrayPool<byte>.Shared.Return(rented);
    }

    private sealed record Large;

    private sealed class Keeper(int length) : JsonConverter<Large>
    {
        public Utf8JsonWriter? Writer { get; private set; }

        public override Large Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
            new();

        public override void Write(Utf8JsonWriter writer, Large value, JsonSerializerOptions options)
        {
            Writer = writer;
            writer.WriteStringValue(new string('x', length));
            throw new NotSupportedException("not written");
        }
    }
}

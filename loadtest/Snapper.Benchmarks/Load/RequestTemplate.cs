using System.Globalization;
using System.Text;

namespace Snapper.Benchmarks.Load;

/// <summary>
/// An HTTP/1.1 request whose bytes are made once; per use only the account ids are written over. In the texts <c>{0}</c> to <c>{3}</c> stand for the
/// accounts of a transaction, 0 being the root.
/// </summary>
public sealed class RequestTemplate
{
    private readonly byte[] bytes;
    private readonly List<(int Offset, int Slot)> slots = [];

    private RequestTemplate(byte[] bytes, int width, int transactions)
    {
        this.bytes = bytes;
        Width = width;
        Transactions = transactions;
    }

    /// <summary>Accounts per transaction.</summary>
    public int Width { get; }

    /// <summary>Transactions per request.</summary>
    public int Transactions { get; }

    /// <summary>Length of the request in bytes.</summary>
    public int Length => bytes.Length;

    /// <summary>One transaction per request.</summary>
    /// <param name="method">HTTP method.</param>
    /// <param name="target">Where to.</param>
    /// <param name="path">Path, with account places.</param>
    /// <param name="headers">Further header lines, each ended by CR LF.</param>
    /// <param name="body">Body, with account places.</param>
    /// <param name="width">Accounts per transaction.</param>
    public static RequestTemplate Single(string method, Uri target, string path, string headers, string body, int width) =>
        Make(method, target, path, headers, [body], "", "", width);

    /// <summary>Several transactions per request: <c>{"transactions":[...]}</c>.</summary>
    public static RequestTemplate Batch(Uri target, string path, string headers, string item, int transactions, int width)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(transactions, 1);
        return Make("POST", target, path, headers, Enumerable.Repeat(item, transactions).ToArray(), "{\"transactions\":[", "]}", width);
    }

    /// <summary>A copy of the bytes for one connection.</summary>
    public byte[] NewBuffer() => (byte[])bytes.Clone();

    /// <summary>Writes the accounts (<see cref="Width"/> per transaction) into a buffer of <see cref="NewBuffer"/>.</summary>
    public void Fill(byte[] buffer, ReadOnlySpan<int> accounts)
    {
        foreach (var (offset, slot) in slots)
        {
            AccountIds.Write(accounts[slot], buffer.AsSpan(offset, AccountIds.Width));
        }
    }

    private static RequestTemplate Make(
        string method, Uri target, string path, string headers, string[] items, string before, string after, int width)
    {
        var body = new StringBuilder(before);
        var bodySlots = new List<(int Offset, int Slot)>();
        for (var i = 0; i < items.Length; i++)
        {
            if (i > 0)
            {
                body.Append(',');
            }

            Append(body, items[i], i * width, width, bodySlots);
        }

        body.Append(after);

        var head = new StringBuilder();
        var headSlots = new List<(int Offset, int Slot)>();
        head.Append(method).Append(' ');
        Append(head, path, 0, width, headSlots);
        head.Append(CultureInfo.InvariantCulture, $" HTTP/1.1\r\nHost: {target.Host}:{target.Port}\r\n");
        if (body.Length > 0)
        {
            head.Append("Content-Type: application/json\r\n");
        }

        head.Append(headers).Append(CultureInfo.InvariantCulture, $"Content-Length: {body.Length}\r\n\r\n");
        var template = new RequestTemplate(Encoding.ASCII.GetBytes(head.ToString() + body), width, items.Length);
        template.slots.AddRange(headSlots);
        foreach (var (offset, slot) in bodySlots)
        {
            template.slots.Add((offset + head.Length, slot));
        }

        return template;
    }

    private static void Append(StringBuilder text, string source, int firstSlot, int width, List<(int Offset, int Slot)> slots)
    {
        for (var i = 0; i < source.Length; i++)
        {
            // JSON never has a digit right after a brace, so a place cannot be mistaken for data.
            if (source[i] == '{' && i + 2 < source.Length && char.IsAsciiDigit(source[i + 1]) && source[i + 2] == '}')
            {
                var slot = source[i + 1] - '0';
                if (slot >= width)
                {
                    throw new ArgumentException($"The template names account {slot}, but a transaction has {width}.", nameof(source));
                }

                slots.Add((text.Length, firstSlot + slot));
                text.Append('#', AccountIds.Width);
                i += 2;
            }
            else
            {
                text.Append(source[i]);
            }
        }
    }
}

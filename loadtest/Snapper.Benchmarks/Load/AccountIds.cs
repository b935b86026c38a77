using System.Buffers.Text;
using System.Globalization;

namespace Snapper.Benchmarks.Load;

/// <summary>Account ids of fixed width (<c>c000042</c>), so that a request can be patched in place without changing its length.</summary>
public static class AccountIds
{
    /// <summary>Characters of an id.</summary>
    public const int Width = 7;

    /// <summary>Accounts that the width has room for.</summary>
    public const int CountMax = 1_000_000;

    /// <summary>The id of an account.</summary>
    public static string Of(int account) => string.Create(CultureInfo.InvariantCulture, $"c{account:D6}");

    /// <summary>Writes the id of an account as UTF-8.</summary>
    public static void Write(int account, Span<byte> destination)
    {
        destination[0] = (byte)'c';
        Utf8Formatter.TryFormat(account, destination[1..Width], out _, new System.Buffers.StandardFormat('D', Width - 1));
    }
}

// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
}

/// Pays on behalf of the caller, as wallets of exchanges do: money arrives by a call inside the transaction.
contract Forwarder {
    /// Sends the coins of the transaction on.
    function forward(address payable to) public payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(sent, "the coins were not taken");
    }

    /// Sends the coins on and reverts.
    function forwardAndRevert(address payable to) external payable {
        forward(to);
        revert("reverted after the transfer");
    }

    /// Sends tokens that this contract owns in two transfers of one transaction.
    function sendTwice(Token token, address to, uint256 first, uint256 second) external {
        token.transfer(to, first);
        token.transfer(to, second);
    }

    /// Sends tokens that this contract owns and reverts.
    function sendAndRevert(Token token, address to, uint256 value) external {
        token.transfer(to, value);
        revert("reverted after the transfer");
    }
}
